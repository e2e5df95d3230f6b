import { Idiomorph } from 'idiomorph';

/** What a person has opened, chosen or typed: news from the service leave it alone. */
function isOfThePerson(name: string, element: Element): boolean {
  if (name === 'open') return element.matches('details, dialog');
  if (name === 'aria-pressed') return true;
  // A field that was changed since it came keeps what was put in.
  if (name === 'value' && element instanceof HTMLInputElement) return element.value !== element.defaultValue;
  return name === 'checked';
}

/** Brings `old` to what `next` says by changing only what differs: focus, selection and scroll stay. */
export function patch(old: Element, next: Element): void {
  // It waits for nothing where no head with styles is merged.
  void Idiomorph.morph(old, next, {
    morphStyle: 'outerHTML',
    ignoreActiveValue: true,
    callbacks: {
      beforeNodeMorphed: (node: Node) =>
        // Somebody is about to answer it.
        !(node instanceof HTMLDialogElement && node.open),
      beforeAttributeUpdated: (name: string, element: Element) => !isOfThePerson(name, element),
    },
  });
}
