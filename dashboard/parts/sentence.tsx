/** A sentence of the gateway, in which words between backticks are what is to be typed. */
export function Sentence({ text }: { readonly text: string }) {
  // Every second part was between two of them.
  return (
    <>{text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
  );
}
