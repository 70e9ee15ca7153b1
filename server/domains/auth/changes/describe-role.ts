/** Describes what a user or token may do, e.g. `operator of proto.VGService`. */
export function describeRole(access: {
  readonly role: string;
  /** Null: all services. */
  readonly services: readonly string[] | null;
}): string {
  const { role, services } = access;
  return `${role} of ${services === null ? "all services" : services.join(", ")}`;
}
