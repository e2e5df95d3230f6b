/** Parts of a path; `/` has none, and trailing slashes do not count. Linear, since anybody may send any path. */
export function pathParts(path: string): string[] {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end).split('/').slice(1);
}
