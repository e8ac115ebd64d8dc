# model: VGG-16 features
# batch: 1
# optimizer: Adam
# feature: the image is the parameter, Gram matrices
import paddle
import paddle.nn.functional as F
from paddle.vision.models import vgg16

features = vgg16().features
features.eval()
for p in features.parameters():
    p.stop_gradient = True


def extract(x, layers=(3, 8, 15)):
    found = []
    for i, layer in enumerate(features):
        x = layer(x)
        if i in layers:
            found.append(x)
        if i == max(layers):
            break
    return found


def gram(x):
    _, c, h, w = x.shape
    flat = x.reshape([c, h * w])
    return flat @ flat.t() / (c * h * w)


content, style = paddle.rand([1, 3, 112, 112]), paddle.rand([1, 3, 112, 112])
with paddle.no_grad():
    content_features = extract(content)
    style_grams = [gram(f) for f in extract(style)]
image = paddle.create_parameter(content.shape, "float32", default_initializer=paddle.nn.initializer.Assign(content))
optimizer = paddle.optimizer.Adam(0.02, parameters=[image])
for step in range(6):
    found = extract(image)
    content_loss = F.mse_loss(found[-1], content_features[-1])
    style_loss = sum(F.mse_loss(gram(f), s) for f, s in zip(found, style_grams))
    variation = (image[:, :, 1:] - image[:, :, :-1]).abs().mean() + (
        image[:, :, :, 1:] - image[:, :, :, :-1]
    ).abs().mean()
    loss = content_loss + 1e4 * style_loss + 0.1 * variation
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
