import { ApiError } from '../../src/api';
import { answer, apiOn } from './helpers';

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const reason = await promise.then(
    () => null,
    (error: unknown) => error
  );
  expect(reason).toBeInstanceOf(ApiError);
  return reason as ApiError;
}

test('a request goes below the base address, in the language of the interface', async () => {
  const seen: [string, RequestInit][] = [];
  const api = apiOn((url, init) => {
    seen.push([url, init]);
    return Promise.resolve(answer(200, '{"version": "1"}'));
  });
  expect(await api.version()).toEqual({ version: '1' });
  const [url, init] = seen[0];
  expect(url).toMatch(/^http:\/\/localhost\/base\/paddle-gpu\/api\/version/);
  expect(init.headers).toMatchObject({ 'Accept-Language': 'zh-CN' });
  expect(api.language).toBe('zh-CN');
  expect(api.eventsUrl()).toBe('ws://localhost/base/paddle-gpu/api/events?language=zh-CN');
});

test('a refusal carries code, sentence and next step', async () => {
  const body = JSON.stringify({
    code: 'too_large',
    message: 'It is 50 MB.',
    hint: 'Clear it.'
  });
  const error = await failure(apiOn(() => Promise.resolve(answer(413, body))).jobs());
  expect(error).toMatchObject({ code: 'too_large', hint: 'Clear it.', status: 413 });
  expect(error.message).toBe('It is 50 MB.');
});

test('our own 404 is not taken for a missing server half', async () => {
  const body = JSON.stringify({ code: 'no_job', message: 'There is none.', hint: '' });
  expect((await failure(apiOn(() => Promise.resolve(answer(404, body))).job('x'))).code).toBe(
    'no_job'
  );
});

test.each([
  ['{"message": "Not Found", "reason": null}', 404],
  ['<html>404</html>', 404]
])('a missing server half is an instruction (%s)', async (body, status) => {
  const error = await failure(apiOn(() => Promise.resolve(answer(status, body))).version());
  expect(error.code).toBe('server_missing');
  expect(error.hint).toContain('jupyter server extension enable jupyter_paddle_gpu');
});

test('an unreachable server says that jobs go on', async () => {
  const error = await failure(apiOn(() => Promise.reject(new TypeError('failed'))).devices());
  expect(error.code).toBe('unreachable');
  expect(error.hint).toContain('Jobs go on');
});

test('a proxy that answers with a page is no answer', async () => {
  const error = await failure(apiOn(() => Promise.resolve(answer(200, '<html>'))).devices());
  expect(error.code).toBe('unexpected_answer');
});

test('ids are escaped and an empty answer is none', async () => {
  let asked = '';
  const api = apiOn(url => {
    asked = url;
    return Promise.resolve(answer(204, ''));
  });
  await api.delete('a/b');
  expect(asked).toContain('jobs/a%2Fb');
});
