/** Whether a name fits a pattern in which `*` is any text and `?` one character. Takes no longer than both are long. */
export function globOf(pattern: string): (name: string) => boolean {
  const marks = Array.from(pattern);
  return (name) => {
    const characters = Array.from(name);
    let [at, mark] = [0, 0];
    let star: { mark: number; at: number } | undefined;
    while (at < characters.length) {
      if (marks[mark] === '*') {
        star = { mark, at };
        mark += 1;
      } else if (marks[mark] === '?' || marks[mark] === characters[at]) {
        mark += 1;
        at += 1;
      } else if (star !== undefined) {
        // The last star takes one character more.
        star.at += 1;
        mark = star.mark + 1;
        at = star.at;
      } else {
        return false;
      }
    }
    return marks.slice(mark).every((one) => one === '*');
  };
}
