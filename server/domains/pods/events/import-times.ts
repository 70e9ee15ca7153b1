/** When images came to the host, as far as the gateway has seen them come. */
export interface ImportTimes {
  /** Nanoseconds since 1970. */
  importedAtNs(imageId: string): bigint | undefined;
}
