/** An icon is a URI, or not there. */
export function iconOf({ icon }: { icon: string | null }): { icon?: string } {
  return icon === null || icon === '' ? {} : { icon };
}
