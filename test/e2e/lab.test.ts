import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sharedAzurite } from '../support/azurite.ts'
import { newUser, type User } from './program.ts'

/** The contention tests as a user sees them: real processes that start, end and die. */

/** Time for processes to start and end, on a busy machine too. */
const PATIENCE_MS = 20_000

let user: User

beforeAll(async () => {
  user = await newUser()
})
afterAll(() => user.leave())

async function azurite(): Promise<string> {
  return `azurite://127.0.0.1:${(await sharedAzurite()).port}/lab-${randomUUID()}`
}

test('processes take a lease in turn, on SQLite, in a file that must exist or is asked for', async () => {
  const words = ['lab', 'lease', '--procs', '3', '--duration', '2s', '--hold', '5ms', '-o', 'json']
  const store = `sqlite:${join(user.home, 'lease.db')}`
  const missing = await user.run([...words, '--store', store])
  expect(missing).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining(`there is no store at ${store}`),
  })
  const { code, stdout } = await user.run([...words, '--store', store, '--create-container'])
  expect(code).toBe(0)
  const { turns, exclusive, processes } = JSON.parse(stdout)
  expect({ exclusive, processes: processes.length }).toEqual({ exclusive: true, processes: 3 })
  expect(turns).toBeGreaterThan(1)
})

test.each([
  ['the embedded store', [], async () => []],
  ['Azurite, optimistic', ['--write', 'optimistic'], async () => ['--store', await azurite()]],
] as const)(
  'processes work on one stream, and each event is done once: %s',
  { timeout: 120_000 },
  async (_, flags, where) => {
    const words = ['lab', 'stream', '--procs', '2', '--events', '11', ...flags, '-o', 'json']
    const { code, stdout, stderr } = await user.run([...words, ...(await where())])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ exactlyOnce: true, faults: [], attempts: 11 })
  },
)

test('killed processes leave no event undone or done twice', async () => {
  const store = `sqlite:${join(user.home, 'kill.db')}`
  const words = ['lab', 'stream', '--kill', '--procs', '3', '--events', '30', '--hold', '150ms', '--claim', '500ms']
  const { code, stdout } = await user.run([...words, '-o', 'json', '--store', store, '--create-container'])
  expect(code).toBe(0)
  const { killed, processes, ...report } = JSON.parse(stdout)
  expect(report).toMatchObject({ exactlyOnce: true, faults: [], kill: true })
  expect(killed).toBeGreaterThan(0)
  expect(processes).toHaveLength(3 + killed)
  expect(user.processesWith(store)).toEqual([])
})

test('an interrupted lab ends with 130: its processes end, its stream is removed', async () => {
  const store = `sqlite:${join(user.home, 'stop.db')}`
  const lab = user.start(['lab', 'stream', '--hold', '10s', '--procs', '2', '--store', store, '--create-container'])
  await lab.until('stderr', /2 processes work on 99 events/)
  await vi.waitFor(() => expect(user.processesWith(store)).toHaveLength(3), PATIENCE_MS)
  lab.process.kill('SIGINT')
  expect(await lab.ended).toMatchObject({ code: 130 })
  await vi.waitFor(() => expect(user.processesWith(store)).toEqual([]), PATIENCE_MS)
  expect(await user.run(['ls', '-o', 'name', '--store', store])).toMatchObject({ code: 0, stdout: '' })
})

test('a killed lab ends its processes', async () => {
  const store = `sqlite:${join(user.home, 'gone.db')}`
  const lab = user.start(['lab', 'lease', '--duration', '60s', '--procs', '2', '--store', store, '--create-container'])
  await vi.waitFor(() => expect(user.processesWith(store)).toHaveLength(3), PATIENCE_MS)
  lab.process.kill('SIGKILL')
  await vi.waitFor(() => expect(user.processesWith(store)).toEqual([]), PATIENCE_MS)
})
