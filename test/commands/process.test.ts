import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** The program in processes of its own: signals, pipes, what only a real process shows. */

const main = fileURLToPath(new URL('../../src/commands/main.ts', import.meta.url))
const entry = `import(${JSON.stringify(main)}).then(program => program.main())`
let folder = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'leasectl-process-'))
  expect((await run('init', 's', '--fork', 'A,B')).code).toBe(0)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function start(...argv: string[]): ChildProcess & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream } {
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, npm_command: '' }
  const child = spawn(process.execPath, ['-e', entry, 'leasectl', ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.setEncoding('utf8')
  child.stderr.setEncoding('utf8')
  return child
}

async function run(...argv: string[]) {
  const child = start(...argv)
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', text => (stdout += text))
  child.stderr.on('data', text => (stderr += text))
  const [code] = await once(child, 'close')
  return { code: code as number, stdout, stderr }
}

/** Resolves once the stream has said the text. */
async function said(stream: NodeJS.ReadableStream, text: string): Promise<void> {
  let seen = ''
  for await (const part of stream) {
    seen += part
    if (seen.includes(text)) return
  }
  throw new Error(`it ended after: ${seen}`)
}

test('what one process writes the next one reads, in the embedded store', async () => {
  const { code, stdout, stderr } = await run('show', 's', '-o', 'json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ name: 's', version: 1 })
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends tail -f with %i', async (signal, code) => {
  const child = start('tail', '-f', 's')
  await said(child.stdout, 'init')
  child.kill(signal)
  expect(await once(child, 'exit')).toEqual([code, null])
})

test('a reading command whose reader goes away ends quietly with 0', async () => {
  const child = start('tail', '-f', 's', '-n', 'all', '--interval', '10ms')
  let stderr = ''
  child.stderr.on('data', text => (stderr += text))
  await said(child.stdout, 'init')
  const writer = run('event', 'set', 's', '01.00', '--tag', 'x')
  const [code] = await once(child, 'exit')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect((await writer).code).toBe(0)
})

test('monitoring that does not read the answer of check is not told that all is well', async () => {
  const child = start('check')
  child.stdout.destroy()
  expect(await once(child, 'exit')).toEqual([3, null])
})

test('a changing command whose reader goes away finishes and keeps its code', async () => {
  const child = start('cancel', 's', 's', '-e', '01.00', '-e', '02.00')
  child.stdout.destroy()
  expect(await once(child, 'exit')).toEqual([0, null])
  const { stdout } = await run('show', 's', '-o', 'json')
  expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', done: true })
})
