import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { programFolder } from '../e2e/program.ts'

test('a built program appends in a thread, and ends by itself once its store is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-thread-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'program.mjs')
  writeFileSync(
    program,
    `import { createInbox, openInbox, openStore } from ${JSON.stringify(join(await programFolder(), 'dist/index.js'))}
const answers = []
process.on('worker', worker => worker.on('message', message => Array.isArray(message) && answers.push(...message)))
const store = await openStore(${JSON.stringify(`sqlite:${join(folder, 's.db')}`)})
await createInbox(store, 'orders', { partitions: 2, by: 'shop' })
const inbox = await openInbox(store, 'orders')
const text = 'x'.repeat(100_000)
for (let at = 0; answers.length === 0 && at < 10_000; at++) await inbox.put({ id: \`o\${at}\`, data: { text } })
await store.close()
console.log(JSON.stringify(answers[0].outcome))
`,
  )
  const { status, stdout, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8', timeout: 60_000 })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '{"kind":"appended"}\n', stderr: '' })
})
