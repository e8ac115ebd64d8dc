// What stands outside our widgets is there from the start; the rest is read when the first of them is opened.
import places from './places.raw.css';

document.head.append(Object.assign(document.createElement('style'), { textContent: places }));
