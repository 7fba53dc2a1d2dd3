# expect: exit 124
# expect: error Timeout
import asyncio
async def again():
    while True:
        await asyncio.sleep(0)
await asyncio.gather(*[again() for _ in range(100)])
