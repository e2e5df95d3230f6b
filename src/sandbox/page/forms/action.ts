import { html, type Html, type Part } from '../html.ts';

/** Something that a person can do to a record. */
export interface Action {
  /** Unique on the page. */
  name: string;
  label: string;
  /** Where the form is sent. */
  to: string;
  /** The question of the confirmation. */
  title: string;
  /** What will happen. */
  what: string;
  /** Cannot be taken back. */
  danger?: boolean;
  primary?: boolean;
  /** Why it cannot be done now; absent when it can. */
  refused?: string | undefined;
  /** What else the form asks. */
  fields?: Part;
}

/**
 * A button that asks before it acts. One that cannot be pressed now stays where it is, and keeps the focus: the next
 * press of a key should not land on something else.
 */
export function actionButton({ name, label, danger, primary, refused }: Action): Html {
  const look = `button ${danger === true ? 'danger' : ''} ${primary === true ? 'primary' : ''}`;
  if (refused !== undefined) {
    return html`<button type="button" id="do-${name}" class="${look}" aria-disabled="true" title="${refused}">
      ${label}
    </button>`;
  }
  return html`<button
    type="button"
    id="do-${name}"
    class="${look}"
    command="show-modal"
    commandfor="ask-${name}"
  >
    ${label}
  </button>`;
}

/** The confirmation of an action. */
export function actionDialog({ name, label, to, title, what, danger, fields }: Action): Html {
  return html`<dialog id="ask-${name}" aria-labelledby="ask-${name}-title" closedby="any">
    <form method="post" action="${to}" data-act>
      <h2 id="ask-${name}-title">${title}</h2>
      <p>${what}</p>
      ${fields}
      <div class="actions">
        <button
          type="button"
          class="button"
          command="close"
          commandfor="ask-${name}"
          ${fields === undefined && html`autofocus`}
        >
          Cancel
        </button>
        <button class="button ${danger === true ? 'danger' : 'primary'}">${label}</button>
      </div>
    </form>
  </dialog>`;
}

/** Buttons in a row, and their confirmations. */
export function actions(all: readonly Action[]): Html {
  return html`${all.map(actionButton)} ${all.map(actionDialog)}`;
}
