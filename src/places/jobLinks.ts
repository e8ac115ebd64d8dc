/** Links to jobs in the outputs of `%paddle_gpu` open the job's page: an output can name a job, and do nothing else. */

const LINK = 'a[href^="#paddle-gpu-job="]';

/** Take the clicks on links to jobs; the answer takes no more. */
export function followJobLinks(open: (id: string) => void): () => void {
  const onClick = (event: MouseEvent) => {
    const link = (event.target as Element | null)?.closest?.<HTMLAnchorElement>(LINK);
    const id = link?.getAttribute('href')?.split('=')[1];
    if (id) {
      event.preventDefault();
      event.stopPropagation();
      open(decodeURIComponent(id));
    }
  };
  document.addEventListener('click', onClick, true);
  return () => document.removeEventListener('click', onClick, true);
}
