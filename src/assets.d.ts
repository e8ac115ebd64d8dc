declare module '*.svg' {
  const value: string;
  export default value;
}

/** The address of a style sheet. */
declare module '*.css' {
  const value: string;
  export default value;
}
