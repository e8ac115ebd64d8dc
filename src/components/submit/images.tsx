/** The image of a job: one of those that are known, the best first, or one of one's own by its name. */

import * as React from 'react';

import type { IImageChoice } from '../../domain';
import { together } from '../../format';
import { type IChoice, imageOf, shortImage } from '../../models/submit/choice';
import { useApp } from '../common/context';

/** Chosen in place of an image: the name is typed. */
const OWN = '*';
/** How a name is written. */
const WRITTEN = 'registry/repository:tag';
/** What may be the name of an image; the server knows the whole grammar. */
const IMAGE =
  /^([\w.-]+(:\d+)?\/)?[a-z\d]+([._/-]+[a-z\d]+)*(:\w[\w.-]*)?(@sha256:[\da-f]{64})?$/;

/** The images, the best first, with what speaks for the chosen one. */
export function Images(props: {
  images: readonly IImageChoice[];
  /** Others that are here. */
  names: readonly string[];
  choice: IChoice;
  onCpu: boolean;
  onChoose: (image: string) => void;
}): JSX.Element {
  const { trans } = useApp();
  const { images, names, choice, onCpu, onChoose } = props;
  const chosen = choice.image;
  const shown = imageOf(images, chosen, onCpu);
  const reasons = shown ? [...shown.reasons, ...shown.ruled_out] : [];
  const isKnown =
    !chosen || names.includes(chosen) || images.some(({ reference }) => reference === chosen);
  const [isNamed, setNamed] = React.useState(false);
  const id = React.useId();
  const own = isNamed || !isKnown;
  return (
    <label>
      <span>{trans.__('Image')}</span>
      <select
        className="jp-PaddleGpu-input"
        value={own ? OWN : chosen}
        onChange={({ target: { value } }) => {
          setNamed(value === OWN);
          onChoose(value === OWN ? '' : value);
        }}
      >
        <option value="">{trans.__('as usual')}</option>
        {images.map(image => (
          <option key={image.reference} value={image.reference}>
            {image.local
              ? shortImage(image.reference)
              : trans.__('%1 (to be pulled)', shortImage(image.reference))}
          </option>
        ))}
        {names.map(name => (
          <option key={name} value={name}>
            {shortImage(name)}
          </option>
        ))}
        <option value={OWN}>{trans.__('another one, by its name')}</option>
      </select>
      {own && (
        <>
          <input
            className="jp-PaddleGpu-input"
            aria-label={trans.__('Name of the image')}
            placeholder={WRITTEN}
            list={id}
            spellCheck={false}
            value={chosen}
            onChange={({ target: { value } }) => {
              setNamed(true);
              onChoose(value.trim());
            }}
          />
          <datalist id={id}>
            {images.map(({ reference }) => (
              <option key={reference} value={reference} />
            ))}
          </datalist>
          {chosen && !IMAGE.test(chosen) && (
            <span role="alert" className="jp-PaddleGpu-reason">
              {trans.__('This cannot be the name of an image. Write registry/repository:tag.')}
            </span>
          )}
        </>
      )}
      {!own && reasons.length > 0 && (
        <span className="jp-PaddleGpu-muted jp-PaddleGpu-reason">
          {shown?.reference} · {together(...reasons.map(({ message }) => message))}
        </span>
      )}
    </label>
  );
}
