// One attempt at a step of a delivery, or at undoing one: asks the service of the step. It is run by a worker:
//
//   leasectl work --name ScheduleDrone,CancelDrone --stdin json -- node step.cjs FOLDER
//
// FOLDER has the sockets of the services. The exit code is the answer: 0 done, 75 try again later, any other failed for good.
// CommonJS, which Node starts in half of the time: a delivery starts this program for each of its steps.
const { readFileSync } = require('node:fs')
const { request } = require('node:http')
const { join } = require('node:path')
const { STEPS } = require('./steps.cjs')

const TRY_AGAIN = 75

const [, , folder, mistake] = process.argv
const { LEASECTL_STREAM: stream, LEASECTL_BORN: born, LEASECTL_ATTEMPT_KEY: attempt } = process.env
const { event } = JSON.parse(readFileSync(0, 'utf8'))
// In an undo step the id of the step to undo.
const { LEASECTL_UNDOES: undoes } = process.env

// A mistake that the proof must find: an undo step that does nothing.
if (mistake === 'skip-undo' && undoes !== undefined) process.exit(0)

// The same in every attempt at the step and at undoing it: by this key the service knows what it has done already. With the key
// of the attempt, which is the other mistake, the next attempt would do everything again.
const key = mistake === 'attempt-key' && undoes === undefined ? attempt : `${stream} ${born} ${undoes ?? event.id}`

const { service } = STEPS.find(({ name, undo }) => (undoes === undefined ? name : undo) === event.name)
ask(join(folder, `${service}.sock`), undoes === undefined ? '/do' : '/undo')

/** Has no time limit: the attempt timeout of the event ends a request without an answer. */
function ask(socketPath, path) {
  const headers = { 'idempotency-key': key, delivery: stream }
  const lost = error => answered(undefined, `${service} does not answer: ${error.code ?? error.message}`)
  const asked = request({ socketPath, path, method: 'POST', headers }, answer => {
    let body = ''
    answer.setEncoding('utf8').on('data', part => {
      body += part
    })
    answer.on('error', lost).on('end', () => answered(answer.statusCode, body))
  })
  asked.on('error', lost).end()
}

function answered(status, body) {
  if (status === 200) return
  console.error(body)
  process.exitCode = status === undefined || status >= 500 ? TRY_AGAIN : 1
}
