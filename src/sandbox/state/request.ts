/** Imported on demand: a sandbox that only serves does without it. */
export { request } from 'undici';
