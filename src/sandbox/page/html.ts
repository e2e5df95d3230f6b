/** Text that is already HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ESCAPES[char] ?? char);
}

type Part = string | number | Html | readonly Html[];

/** HTML from a template; whatever is put in is escaped unless it is HTML itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? '';
  for (const [n, part] of parts.entries()) {
    if (part instanceof Html) text += part.text;
    else if (typeof part === 'string' || typeof part === 'number') text += escape(String(part));
    else text += part.map((piece) => piece.text).join('');
    text += strings[n + 1] ?? '';
  }
  return new Html(text);
}
