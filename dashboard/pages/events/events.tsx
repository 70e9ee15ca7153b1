/** Filled by its page helper. */
export function Events() {
  return <h1>Events</h1>;
}
