/**
 * Fields whose text is kept elsewhere. What they are drawn from follows a frame or a message later; until then React
 * would put the old text back, and a key that comes meanwhile would be lost.
 */

import * as React from 'react';

/** The text to show, which is what was typed until `value` has followed, and how to take what is typed. */
export function useTyped(
  value: string,
  take: (text: string) => void
): [string, (text: string) => void] {
  const [typed, setTyped] = React.useState<string | null>(null);
  React.useEffect(() => setTyped(null), [value]);
  return [
    typed ?? value,
    text => {
      setTyped(text);
      take(text);
    }
  ];
}

type InputProps = Omit<React.InputHTMLAttributes<HTMLInputElement>, 'onChange'>;

export function Typed(
  props: InputProps & { value: string; take: (text: string) => void }
): JSX.Element {
  const { value, take, ...rest } = props;
  const [text, type] = useTyped(value, take);
  return (
    <input
      className="jp-PaddleGpu-input"
      value={text}
      onChange={event => type(event.target.value)}
      {...rest}
    />
  );
}
