import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newUser } from '../e2e/program.ts'
import { bringExamples } from './examples-at-home.ts'

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

test('the TypeScript of the README runs unchanged, ends by itself, and matches the text', async () => {
  const [, program = ''] = /^```ts\n(.*?)^```$/ms.exec(README) ?? []
  const user = await newUser()
  try {
    bringExamples(user)
    writeFileSync(join(user.home, 'orders.ts'), program)
    const ran = await user.shell('node orders.ts').ended
    expect(ran).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const { stdout } = await user.run(['show', 'orders/4711', '--store', 'sqlite:orders.db'])
    expect(stdout).toMatch(/01\.00 Search .*aborted.*\n.*02\.00 Pay .*completed.*\n.*01 Ship .*(init|completed)/s)
    expect(stdout).toContain('search for what?')
  } finally {
    user.leave()
  }
})
