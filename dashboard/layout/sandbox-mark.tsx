import { isSandbox } from "../backend.ts";

/** A mark for sandboxes; shows nothing if the gateway manages real systems. */
export function SandboxMark() {
  return isSandbox.value ? (
    <span class="sandbox" title="Its systems are simulated; it changes nothing on the host.">
      Sandbox
    </span>
  ) : null;
}
