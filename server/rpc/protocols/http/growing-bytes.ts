/**
 * Collects bytes that arrive in chunks. A single chunk is kept as it is; several are copied to one buffer of at most twice their
 * size. A list of chunks would take a hundred times the memory for a client that sends single bytes.
 */
export class GrowingBytes {
  #bytes: Buffer = Buffer.alloc(0);
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  add(chunk: Buffer): void {
    if (this.#sizeBytes === 0) {
      this.#bytes = chunk;
      this.#sizeBytes = chunk.byteLength;
      return;
    }
    const sizeBytes = this.#sizeBytes + chunk.byteLength;
    if (this.#bytes.byteLength < sizeBytes) {
      const grown = Buffer.allocUnsafeSlow(2 * sizeBytes);
      grown.set(this.#bytes.subarray(0, this.#sizeBytes));
      this.#bytes = grown;
    }
    this.#bytes.set(chunk, this.#sizeBytes);
    this.#sizeBytes = sizeBytes;
  }

  whole(): Buffer {
    return this.#bytes.subarray(0, this.#sizeBytes);
  }
}
