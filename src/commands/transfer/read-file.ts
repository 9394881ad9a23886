import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { CommandFailed } from '../../cli/problem.ts'
import { MAX_READ_BYTES } from '../../stream/limits.ts'
import { errorCode, fileProblem } from './files.ts'

/** The bytes of a document's file, a little more than any may have at most; `undefined` if it is gone. @throws CommandFailed */
export async function readDocumentFile(path: string): Promise<Uint8Array | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY)
    try {
      return await firstBytes(handle.createReadStream({ autoClose: false }))
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw new CommandFailed(fileProblem(error, path))
  }
}

async function firstBytes(source: AsyncIterable<Buffer>): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of source) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_READ_BYTES) break
  }
  return Buffer.concat(chunks)
}
