/** Filled by its page helper. */
export function Hypervisors() {
  return <h1>Hypervisors</h1>;
}
