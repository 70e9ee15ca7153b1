import { invalidField } from "../host/infra-error.ts";

/** Rejects anything but the id of a pod, container or image: 64 hexadecimal digits. @throws InfraError INVALID_FIELD */
export function assertRuntimeId(id: string, field: string): void {
  if (!/^[0-9a-f]{64}$/.test(id)) {
    throw invalidField(field, "must be 64 lower-case hexadecimal digits");
  }
}

const maxReferenceLength = 512;

/**
 * Rejects anything but an image name that can be pulled: a registry with an optional port, a path, and a tag or a
 * digest. Other text could be parsed as another kind of source (`dir:/etc`), or be pulled from a registry that the
 * caller did not name.
 * @throws InfraError INVALID_FIELD
 */
export function assertImageReference(reference: string, field: string): void {
  if (reference.length > maxReferenceLength) {
    throw invalidField(
      field,
      `must be at most ${maxReferenceLength} characters long, is ${reference.length}`,
    );
  }
  const registry = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?\//;
  const path = /^[a-z0-9]+([._-]+[a-z0-9]+)*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*/;
  const version = /^(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?$/;
  const host = registry.exec(reference)?.[0] ?? "";
  const isHost = host.startsWith("localhost/") || /[.:]/.test(host);
  const rest = reference.slice(host.length);
  const name = path.exec(rest)?.[0] ?? "";
  if (!isHost || name === "" || !version.test(rest.slice(name.length))) {
    throw invalidField(field, "must be a full name such as registry.example/path/name:tag");
  }
}

/** Rejects anything but the full name of a signal, e.g. `SIGTERM`. @throws InfraError INVALID_FIELD */
export function assertSignal(signal: string, field: string): void {
  if (!/^SIG[A-Z0-9+-]{2,10}$/.test(signal)) {
    throw invalidField(field, "must be a full signal name in upper case, e.g. SIGTERM");
  }
}
