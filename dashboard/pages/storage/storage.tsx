/** Filled by its page helper. */
export function Storage() {
  return <h1>Ceph</h1>;
}
