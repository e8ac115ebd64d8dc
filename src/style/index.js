// A file of its own, read as what it is; JupyterLab, which waits for this module, never shows us without it.
import sheet from './index.raw.css';

const link = document.createElement('link');
link.rel = 'stylesheet';
link.href = sheet;
await new Promise(done => {
  link.onload = link.onerror = done;
  document.head.append(link);
});
