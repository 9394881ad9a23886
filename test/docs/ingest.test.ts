import { afterEach, beforeEach, expect, test } from 'vitest'
import { newUser, type Running, type User } from '../e2e/program.ts'
import { bringExamples } from './examples-at-home.ts'

let user: User
let running: Running | undefined

beforeEach(async () => {
  user = await newUser()
  bringExamples(user)
})

afterEach(async () => {
  // Its processes must not outlive it.
  running?.process.kill('SIGTERM')
  await running?.ended
  user.leave()
})

test('the ingest example proves that each accepted request is one delivery, though all of its processes are killed', async () => {
  running = user.shell('exec node examples/ingest/main.ts --requests 12 --rate 100 --faults 20% --seed 2 --kills')
  const { code, stdout } = await running.ended
  expect(stdout).toMatch(/^accepted {5}12 in \d+ ms/m)
  expect(stdout).toMatch(/^kills {8}[1-9]/m)
  expect(stdout).toMatch(/^compensated {2}[1-9]/m)
  expect(stdout).toMatch(/^proven: every request that was accepted is one delivery/m)
  expect(code).toBe(0)
}, 240_000)
