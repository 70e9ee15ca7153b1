/** Filled by its page helper. */
export function Pods() {
  return <h1>Pods</h1>;
}
