/** Filled by its page helper. */
export function Audit() {
  return <h1>Audit</h1>;
}
