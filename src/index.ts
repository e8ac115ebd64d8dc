export * from './tokens';
export { default } from './plugin';
