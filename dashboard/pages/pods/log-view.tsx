import { useSignal } from "@preact/signals";
import { memo } from "preact/compat";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { LogBlock, LogBuffer } from "./log-buffer.ts";

/** Distance from the end within which the view follows new lines. */
const nearPx = 24;

/** Lines of a log. Follows new lines while the end is visible, and stays in place while the user reads further up. */
export function LogView(props: {
  readonly of: LogBuffer;
  /** Shown without lines. */
  readonly empty: string;
}) {
  const { of: log, empty } = props;
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useSignal(true);

  function scrollToEnd(): void {
    const element = box.current;
    if (element !== null) {
      element.scrollTop = element.scrollHeight;
    }
  }

  useLayoutEffect(() => {
    if (isAtEnd.peek()) {
      scrollToEnd();
    }
  }, [log]);

  return (
    <div class="log-frame">
      <div
        ref={box}
        class="log"
        role="log"
        // Otherwise a screen reader would read hundreds of lines aloud.
        aria-live="off"
        aria-label="Log, with times in UTC"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.value = scrollHeight - scrollTop - clientHeight < nearPx;
        }}
      >
        {log.lineCount === 0 && <p class="quiet">{empty}</p>}
        {log.blocks.map((block) => (
          <Block key={block.key} of={block} />
        ))}
      </div>
      {!isAtEnd.value && (
        <button type="button" class="newest" onClick={scrollToEnd}>
          Jump to newest
        </button>
      )}
    </div>
  );
}

const Block = memo(({ of: { lines } }: { readonly of: LogBlock }) => (
  <div>
    {lines.map(({ key, time, text }) => (
      <div key={key}>
        <LogTime of={time} /> {text}
      </div>
    ))}
  </div>
));

/** The time in UTC as received, to the millisecond; narrow screens leave out the date. */
function LogTime({ of: time }: { readonly of: string }) {
  return (
    <time class="quiet" dateTime={time} title={time}>
      <span class="date">{time.slice(0, 10)} </span>
      {time.slice(11, 23).replace("Z", "")}
    </time>
  );
}
