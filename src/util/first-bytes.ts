/** The bytes of a source up to the chunk that passes the limit: enough to refuse a source that is too large. */
export async function firstBytes(source: AsyncIterable<string | Uint8Array>, limitBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of source) {
    const bytes =
      typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    chunks.push(bytes)
    size += bytes.length
    if (size > limitBytes) break
  }
  return Buffer.concat(chunks)
}
