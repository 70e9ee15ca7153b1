/** A sentence from the gateway. Text between backticks is shown as code. */
export function Sentence({ text }: { readonly text: string }) {
  // Every second part was between backticks.
  return (
    <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
  );
}
