const EVERYTHING = `# what a watchdog does
interval: 30s
match: 'orders/**'
on-due: notify
max-per-pass: 50
max-share: 20%
shards: 3
purge: 90d
listen: :9464
listen-names: [watchdog.monitoring.svc]
on-expired: /opt/my hooks/page
on-done: [notify, --level, 5, --all]
on-failed:
  - command: [./page.sh, --now]
    timeout: 10s
    tries: 2
  - webhook: https://hooks.example.com/T0?x=1
    secret-env: HOOK_SECRET
  - webhook: http://127.0.0.1:8080/
    secret-file: /run/secrets/hook
webhooks:
  allow: [hooks.example.com, 127.0.0.1:8080]
  networks: [127.0.0.0/8, 'fd12:3456::/32']
`

/** Texts that reader and schema accept. */
export const GOOD = {
  everything: EVERYTHING,
  'nothing at all': '',
  'comments alone': '# later\n',
  'a JSON document': '{"interval": "PT5M", "max-share": 0.5}',
  'a hook as JSON in a text': `on-done: '["notify","--team","x"]'`,
  'one mapping': 'on-failed: {command: /bin/page, tries: 1}',
  'a host with its usual port':
    'on-done: {webhook: https://h.example/x}\nwebhooks: {allow: ["h.example:443", "[::1]:8080"]}',
  'a metadata service among what is opened: it stays closed':
    'on-done: {webhook: https://h.example/x}\nwebhooks: {allow: h.example, networks: 0.0.0.0/0}',
  'this machine by its name': 'on-done: {webhook: http://localhost:1/}\nwebhooks: {allow: localhost, networks: "::1"}',
  'one host that is no list': 'on-done: {webhook: https://h.example/x}\nwebhooks: {allow: h.example}',
} as const

/** A text, its error message, and a part of the hint. */
export type Bad = readonly [text: string, what: string, hint?: string]

export const BAD_IN_BOTH: readonly Bad[] = [
  ['intervall: 30s', 'line 1 does not take "intervall"', 'did you mean interval?'],
  ['\n\nmax_share: 20%', 'line 3 does not take "max_share"', 'did you mean max-share?'],
  ['shards: 2\ninterval: 30', 'line 2: interval: 30 has no unit'],
  ['interval:', 'line 1: interval is empty'],
  ['interval: [30s]', 'line 1: interval is not a single value'],
  ['on-due: abort', 'line 1: on-due does not take "abort"', 'did you mean abort-event?'],
  ['max-per-pass: 0', 'line 1: max-per-pass does not take "0"'],
  ['max-per-pass: many', 'line 1: max-per-pass does not take "many"'],
  ['max-share: 50', 'line 1: max-share does not take "50"', 'Write 50%.'],
  ['shards: 1.5', 'line 1: shards does not take "1.5"'],
  ['listen: 9464', 'line 1: listen does not take "9464"'],
  ['listen-names: [ops-1:9464]', 'listen-names, item 1 does not take "ops-1:9464"', 'without a port'],
  ['match: ""', 'line 1: match is empty'],
  ['- interval', 'is not a mapping'],
  ['on-done: []', 'is an empty list'],
  ['on-done: ""', 'the program is empty'],
  ['on-done: [a, {command: b}]', 'mixes strings and mappings'],
  ['on-done: [a, ""]', 'argument 1 is empty'],
  ['on-done: {command: a, webhook: https://h/}', 'either a command or a webhook'],
  ['on-done: {timeout: 5s}', 'either a command or a webhook'],
  ['on-done: {command: a, timout: 5s}', 'does not take "timout"', 'did you mean timeout?'],
  ['on-done: {command: a, timeout: 5}', 'timeout: 5 has no unit'],
  ['on-done: {command: a, tries: 0}', 'tries does not take "0"'],
  ['on-done: {command: a, tries: 11}', 'is too many'],
  ['on-done: {command: a, secret-env: A}', 'a command has no secret'],
  ['on-done: {webhook: "ftp://h/"}', 'not an https URL'],
  ['on-done: {webhook: "https://h/", secret: x}', 'do not write a secret into this file', 'secret-file: PATH'],
  ['on-done: {webhook: "https://h/", secret-env: A, secret-file: b}', 'secret-file is set already'],
  ['on-done: {webhook: "https://h/", secret-env: "a-b"}', 'is not the name of an environment variable'],
  ['webhooks: {allow: ["*.example.com"]}', 'is not a host', 'the full name'],
  ['webhooks: {allow: ["https://h.example"]}', 'is not a host'],
  ['webhooks: {deny: [x]}', 'does not take "deny"'],
  ['webhooks: {networks: [inner.example]}', '"inner.example" is not a network', '10.1.0.0/16'],
]

/** Cases that a schema cannot express, or never sees: YAML itself, and relations between two fields. */
export const BAD_TO_THE_READER: readonly Bad[] = [
  ['interval: 1s\ninterval: 2s', 'Map keys must be unique at line 2'],
  ['interval: "30s', 'at line 1'],
  ['a: [', 'at line 1'],
  ['---\nshards: 1\n---\nshards: 2', 'several documents'],
  ['[['.repeat(30_000), 'nested too deeply'],
  ['on-failed: &a {command: x}\non-done: *a', 'line 2: on-done is an alias'],
  ['on-failed: {<<: {command: x}}', 'does not take "<<"'],
  ['? [a]\n: 1', 'a key is not a string'],
  ['interval: !!str-ange 3s', 'Unresolved tag'],
  ['on-done: {webhook: "https://other.example/x"}\nwebhooks: {allow: [h.example]}', 'is not on the list'],
  ['on-done: {webhook: "https://h.example:444/x"}\nwebhooks: {allow: ["h.example:443"]}', 'is not on the list'],
  ['on-done: {webhook: "https://h.example/x"}', 'is not on the list'],
  ['on-done: {webhook: "http://h.example/x"}\nwebhooks: {allow: [h.example]}', 'http sends everything unencrypted'],
  ['on-done: {webhook: "https://u:p@h.example/x"}\nwebhooks: {allow: [h.example]}', 'the URL contains a user'],
  ['on-done: {webhook: "https://h.example/x#y"}\nwebhooks: {allow: [h.example]}', 'the URL contains a fragment'],
  ...['127.0.0.1', '10.0.0.7', '[::1]', '[fd12::1]', '0x7f.1', '2130706433', 'localhost', '[::ffff:10.0.0.7]'].map(
    host =>
      [`on-done: {webhook: "https://${host}/x"}\nwebhooks: {allow: ["${host}"]}`, 'is a private address'] as const,
  ),
  ...['169.254.169.254', '[fd00:ec2::254]', '168.63.129.16', '100.100.100.200', '0.0.0.0', '[fe80::1]'].map(
    host =>
      [
        `on-done: {webhook: "https://${host}/x"}\nwebhooks: {allow: ["${host}"], networks: [0.0.0.0/0, "::/0"]}`,
        'never receives webhooks, whatever the settings',
      ] as const,
  ),
  ['webhooks: {networks: [10.0.0.0/33]}', 'is not a network'],
  ['on-done: {command: a, timeout: 11m}', 'is too long for a hook'],
  [`on-done: '["a'`, 'is not JSON'],
  [`#${'x'.repeat(66_000)}`, 'too long for a configuration'],
]
