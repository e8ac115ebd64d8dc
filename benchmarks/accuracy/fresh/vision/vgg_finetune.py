# model: VGG-13
# batch: 8
# optimizer: AdamW
# feature: frozen features, replaced head
import paddle
from paddle import nn
from paddle.vision.models import vgg13

model = vgg13(batch_norm=True)
for p in model.features.parameters():
    p.stop_gradient = True
model.classifier = nn.Sequential(
    nn.Linear(512 * 7 * 7, 256),
    nn.ReLU(),
    nn.Dropout(0.5),
    nn.Linear(256, 5),
)
model.train()
loss_fn = nn.CrossEntropyLoss()
trainable = [p for p in model.parameters() if not p.stop_gradient]
optimizer = paddle.optimizer.AdamW(learning_rate=1e-3, parameters=trainable, weight_decay=0.01)
x = paddle.randn([8, 3, 96, 96])
y = paddle.to_tensor([0, 1, 2, 3, 4, 0, 1, 2])
for i in range(6):
    logits = model(x)
    loss = loss_fn(logits, y)
    accuracy = (logits.argmax(-1) == y).astype("float32").mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(i, float(loss), float(accuracy))
