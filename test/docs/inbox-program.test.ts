import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newUser } from '../e2e/program.ts'
import { bringExamples } from './examples-at-home.ts'

const PAGE = readFileSync(new URL('../../docs/inbox.md', import.meta.url), 'utf8')

test('the programs of the page about inboxes run unchanged, one after the other', async () => {
  const programs = [...PAGE.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program = '']) => program)
  expect(programs.length).toBeGreaterThan(1)
  const user = await newUser()
  try {
    bringExamples(user)
    for (const [at, program] of programs.entries()) {
      const file = `program-${at}.ts`
      writeFileSync(join(user.home, file), program)
      const ran = await user.shell(`node ${file}`).ended
      expect(ran).toMatchObject({ code: 0, stderr: '' })
      if (program.includes('await drain(')) expect(ran.stdout).toBe('2 done, 0 dead\n')
    }
    const { stdout } = await user.run(['show', 'cars/car-7', '--store', 'sqlite:orders.db'])
    expect(stdout).toMatch(/02\.00 Move .*init.*\n.*02\.01 Move .*after 02\.00/s)
  } finally {
    user.leave()
  }
})
