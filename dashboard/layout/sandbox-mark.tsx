import { isSandbox } from "../backend.ts";

/** Says of a sandbox that it is one; nothing of a gateway to real systems. */
export function SandboxMark() {
  return isSandbox.value ? (
    <span class="sandbox" title="Its systems are made up; nothing on the host is touched.">
      Sandbox
    </span>
  ) : null;
}
