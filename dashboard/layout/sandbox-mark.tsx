import { isSandbox } from "../backend.ts";

/** A mark for sandboxes; shows nothing if the gateway manages real systems. */
export function SandboxMark() {
  return isSandbox.value ? (
    <span class="sandbox" title="Its systems are made up; nothing on the host is touched.">
      Sandbox
    </span>
  ) : null;
}
