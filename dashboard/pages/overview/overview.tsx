/** Filled by its page helper. */
export function Overview() {
  return <h1>Overview</h1>;
}
