/** Filled by its page helper. */
export function Clusters() {
  return <h1>Clusters</h1>;
}
