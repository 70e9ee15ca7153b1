import { useSignal } from "@preact/signals";
import { memo } from "preact/compat";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { LogBlock, LogBuffer } from "./log-buffer.ts";

/** So near to the end somebody is who wants to see what comes. */
const nearPx = 24;

/** Lines of a log. It moves along with what comes while its end is in sight, and stays where it is while somebody reads above. */
export function LogView({ of: log }: { readonly of: LogBuffer }) {
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
        // It would be read aloud line by line, hundreds at once.
        aria-live="off"
        aria-label="What was printed, with times in UTC"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.value = scrollHeight - scrollTop - clientHeight < nearPx;
        }}
      >
        {log.lineCount === 0 && <p class="quiet">Nothing was printed yet.</p>}
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

/** To the millisecond, in UTC as it was told; narrow screens leave out the date. */
function LogTime({ of: time }: { readonly of: string }) {
  return (
    <time class="quiet" dateTime={time} title={time}>
      <span class="date">{time.slice(0, 10)} </span>
      {time.slice(11, 23).replace("Z", "")}
    </time>
  );
}
