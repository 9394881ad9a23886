import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newUser, type User } from './program.ts'

let user: User
let typo: string

beforeAll(async () => {
  user = await newUser()
  typo = join(user.home, 'typo.db')
})
afterAll(() => user.leave())

const MISSING = /there is no store at sqlite:\S*typo\.db: the file does not exist/

test.each([
  'ls',
  'ls --group-by status',
  'log --all',
  'show s',
  'tail s',
  'wait --all --within 1s',
  'stats --all',
  'doctor',
  'doctor --all',
  'lease ls',
  'cancel --all --yes',
  'retry s',
  'rm s --yes',
  'event start s 01.00',
  'export --all --to backup',
  'watchdog',
  'watchdog --once',
  'watchdog status',
  'context test',
  'top',
])('%s fails with exit 3 if the named file does not exist', async line => {
  const named = await user.run([...line.split(' '), '--store', `sqlite:${typo}`])
  expect(named.code).toBe(3)
  expect(`${named.stdout}${named.stderr}`).toMatch(MISSING)
  expect(existsSync(typo)).toBe(false)
})

test('the file of LEASECTL_STORE, of a context and of a source of import must exist too', async () => {
  expect(await user.run(['context', 'add', 'typo', '--store', `sqlite:${typo}`])).toMatchObject({ code: 0 })
  const ended = [
    await user.run(['ls'], { LEASECTL_STORE: `sqlite:${typo}` }),
    await user.run(['ls', '-c', 'typo']),
    await user.run(['ls'], { LEASECTL_CONTEXT: 'typo' }),
    await user.run(['import', `sqlite:${typo}`]),
  ]
  for (const { code, stderr } of ended) {
    expect(stderr).toMatch(MISSING)
    expect(code).toBe(3)
  }
})

test('the default store may be missing: nothing was created yet', async () => {
  const { code, stderr } = await user.run(['ls'])
  expect(code).toBe(0)
  expect(stderr).toContain('the file does not exist (yet)')
})

test('init, import, demo and export --to create the named file', async () => {
  const at = (name: string) => ['--store', `sqlite:${join(user.home, name)}`]
  expect(await user.run(['init', 's', ...at('init.db')])).toMatchObject({ code: 0 })
  const copy = `sqlite:${join(user.home, 'copy.db')}`
  expect(await user.run(['export', 's', '--to', copy, ...at('init.db')])).toMatchObject({ code: 0 })
  expect(await user.run(['import', copy, ...at('import.db')])).toMatchObject({ code: 0 })
  expect(await user.run(['ls', '-o', 'name', ...at('import.db')])).toMatchObject({ code: 0, stdout: 's\n' })
  expect(await user.run(['demo', '--speed', '50', ...at('demo.db')])).toMatchObject({ code: 0 })
})

test('the error for a missing stream names the store', async () => {
  const path = join(user.home, 'there.db')
  await user.run(['init', 's', '--store', `sqlite:${path}`])
  const { code, stderr } = await user.run(['show', 'nope', '--store', `sqlite:${path}`])
  expect(code).toBe(3)
  expect(stderr.replace(/\s+/g, ' ')).toContain(`there is no stream nope in sqlite:${path}`)
})
