import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** What the bar at the top says about the page. */
export interface PageHead {
  readonly title: string;
  /** A figure or two about the page, in grey. */
  readonly note?: string | undefined;
  /** Pages above this one, the outermost first. With them the title is a breadcrumb and the page has a heading of its own. */
  readonly parents?: readonly { readonly title: string; readonly path: string }[];
}

export const pageHead = signal<PageHead>({ title: "" });

/** A page: its head in the bar at the top, and what is below. */
export function Page({
  children,
  title,
  note,
  parents,
}: PageHead & {
  readonly children: ComponentChildren;
}) {
  const parentKey = parents?.map(({ path, title: name }) => `${path} ${name}`).join("\n");
  useLayoutEffect(() => {
    pageHead.value = { title, note, ...(parents === undefined ? {} : { parents }) };
  }, [title, note, parentKey]);
  return <div class="page">{children}</div>;
}
