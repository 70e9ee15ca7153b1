/** What `show` prints: facts, one a line without the empty ones, then tables. */
export interface View {
  readonly facts?: readonly (readonly [name: string, value: string])[];
  readonly tables?: readonly Table[];
  /** Lines before everything else. */
  readonly lines?: readonly string[];
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}
