import { withSizes } from "./with-sizes.ts";

/** A sentence from the gateway. Sizes are in GiB and the like. Text between backticks is shown as code. */
export function Sentence({ text }: { readonly text: string }) {
  // Every second part was between backticks.
  return (
    <>
      {withSizes(text)
        .split("`")
        .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  );
}
