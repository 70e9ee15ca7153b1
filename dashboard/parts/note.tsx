import type { ComponentChildren } from "preact";
import { Status, type StatusKind } from "./status.tsx";

export type NoteTone = "ok" | "warn" | "bad" | "wait";

const statuses: Readonly<Record<NoteTone, StatusKind>> = {
  ok: "ok",
  warn: "warn",
  bad: "failed",
  wait: "approval",
};

/** A message in a tinted box, with the shape of its status. */
export function Note(props: {
  readonly tone: NoteTone;
  readonly role?: "alert" | "status";
  readonly children: ComponentChildren;
}) {
  const { tone, role, children } = props;
  return (
    <div class={`note ${tone}`} {...(role === undefined ? {} : { role })}>
      <Status kind={statuses[tone]} />
      {children}
    </div>
  );
}
