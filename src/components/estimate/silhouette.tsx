/** What will stand here: the course of a step's memory, not yet known. */

import * as React from 'react';

/** A step as most are: activations pile up layer by layer in the forward phase, and go one by one in the backward one. */
const COURSE =
  'M0 66H24V58H44V48H68V39H90V30H116V22H140V14H160V6H176V14H196V24H216V34H238V44H260V54H284V66H320V100H0Z';

export function Silhouette(props: { busy?: boolean }): JSX.Element {
  return (
    <svg
      className={`jp-PaddleGpu-silhouette${props.busy ? ' jp-mod-busy' : ''}`}
      viewBox="0 0 320 100"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={COURSE} />
      <path d="M0 76H320V100H0Z" />
    </svg>
  );
}
