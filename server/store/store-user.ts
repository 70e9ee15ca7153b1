/** The gateway that uses a store. */
export interface StoreUser {
  /** Name of its host, for messages of other gateways. */
  readonly name: string;
  /** The domains that it serves for this host only. With any, no other gateway may use the store. */
  readonly hostSystems: readonly string[];
}
