/** Filled by its page helper. */
export function Operations() {
  return <h1>Operations</h1>;
}
