/** Times at which images were imported to the host, if the gateway observed the import. */
export interface ImportTimes {
  /** Nanoseconds since 1970. */
  importedAtNs(imageId: string): bigint | undefined;
}
