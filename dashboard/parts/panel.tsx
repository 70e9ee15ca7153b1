import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A part of a page with a border and a head. */
export function Panel(props: {
  readonly title: string;
  /** In grey beside the title, such as a count. */
  readonly note?: ComponentChildren;
  /** At the right end of the head. */
  readonly tools?: ComponentChildren;
  /** Whether the content touches the border, as lines do. */
  readonly isFlush?: boolean;
  readonly children: ComponentChildren;
}) {
  const { title, note, tools, isFlush = false, children } = props;
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {note !== undefined && <span class="quiet">{note}</span>}
        {tools !== undefined && <span class="row">{tools}</span>}
      </header>
      {isFlush ? children : <div class="inside stack">{children}</div>}
    </section>
  );
}
