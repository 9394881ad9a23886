// A separate program with a limited heap: node --max-old-space-size=MB child-memory.ts
// Runs the command lines that it reads from standard input, one after the other, and reports each result. Their
// output is counted and discarded.
import { writeSync } from 'node:fs'
import type { Terminal } from '../../../src/cli/runtime.ts'
import { programRuntime, runCommandLine } from '../../../src/commands/main.ts'

const MAX_STDERR = 500

const input = await Array.fromAsync(process.stdin)
const lines: readonly (readonly string[])[] = JSON.parse(Buffer.concat(input).toString('utf8'))

for (const argv of lines) {
  let bytes = 0
  let stderr = ''
  const runtime = Object.create(programRuntime(new AbortController().signal), {
    argv: { value: argv },
    stdout: {
      value: sink(chunk => {
        bytes += Buffer.byteLength(chunk)
      }),
    },
    stderr: {
      value: sink(chunk => {
        stderr = `${stderr}${Buffer.from(chunk).toString('utf8')}`.slice(0, MAX_STDERR)
      }),
    },
  })
  const exit = await runCommandLine(runtime)
  // Synchronously: output in flight would be lost when the heap is full.
  writeSync(1, `${JSON.stringify({ exit, bytes, stderr })}\n`)
}

function sink(take: (chunk: string | Uint8Array) => void): Terminal {
  return { isTty: false, columns: undefined, write: async chunk => take(chunk) }
}
